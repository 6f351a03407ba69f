"""Policies: the numbers and choices by which memory is made.

- `policy`: a policy, read with its bases and checked
- `files`: policy files, their bases, and the file and line that state a key
- `text`: a policy written out in full, with the origin of each value
- `extract`: the `[extract]` and `[salience]` headings: the rule table
- `relations`: the table of relations that statements use
- `memory`: headings of the periodic stages
- `recall`: headings of recall
- `live`: headings of a running conversation
- `signals`: the `[signals]` heading: triggers and memories from moods, rhythms and silence
- `life_events`: the `[life_events]` heading: which sentences tell an event, and which future events are named
- `insights`: the `[insights]` heading: trends of numbers and of topics
- `evaluation`: the `[evaluation]` heading: held-back questions and the gate
- `publish`: the `[publish]` heading: how much a generation may change, and how long the replaced memory is kept
- `sensitivity`: the `[sensitivity]` heading: how sensitive statements are treated
- `assist`: the `[assist]` heading: tools, lessons and inboxes
- `defaults`: defaults from the language pack: words and patterns
- `table`: the base class of headings, and common ranges
- `fading`: how importance fades and when a memory is forgotten

Five shipped policies hold the numbers of the five source designs; the sixth, `reverie`, is our own and the default. A
user's file names a `base` and states only the differences; every key has a default.
"""

from reverie.policy.evaluation import EvaluationPolicy
from reverie.policy.extract import ExtractPolicy, Rule, SaliencePolicy
from reverie.policy.files import policy_label, policy_reference, shipped_policies
from reverie.policy.live import RelationshipPolicy
from reverie.policy.memory import ChunkPolicy, CompressPolicy, DecayPolicy, ImportancePolicy, MergePolicy, PrunePolicy
from reverie.policy.policy import Policy, load_policy
from reverie.policy.recall import QUERY_KINDS, SIGNALS, QueryKind, RecallPolicy

__all__ = [
    "QUERY_KINDS",
    "SIGNALS",
    "ChunkPolicy",
    "CompressPolicy",
    "DecayPolicy",
    "EvaluationPolicy",
    "ExtractPolicy",
    "ImportancePolicy",
    "MergePolicy",
    "Policy",
    "PrunePolicy",
    "QueryKind",
    "RecallPolicy",
    "RelationshipPolicy",
    "Rule",
    "SaliencePolicy",
    "load_policy",
    "policy_label",
    "policy_reference",
    "shipped_policies",
]
