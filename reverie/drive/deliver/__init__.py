"""deliver: due triggers and changes of memories reach the webhooks that subscribed to them.

- `delivering`: fills the outbox, sends due messages and records the results
- `subscriptions`: the webhooks of a tenant
- `sending`: one signed request
- `destinations`: the hosts to which requests may go
- `public_network`: connections to public addresses only
"""
