/** A client of the API, typed from its OpenAPI document. */
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './api.ts';

export interface ReverieOptions {
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  url: string;
  /** A key of `reverie keys add`. */
  key: string;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds after which a request fails. Default: 10,000. */
  timeout?: number;
}

/** A client: `GET`, `POST` and `PUT` take a path of the API and its typed parameters. */
export type Reverie = Client<paths>;

/** An answer of the server that is an error (RFC 9457). */
export class ReverieError extends Error {
  override readonly name = 'ReverieError';
  /** HTTP status. */
  readonly status: number;
  /** What is wrong with which field, where the request was invalid. */
  readonly errors: readonly unknown[];

  constructor(status: number, problem: unknown) {
    const { title, detail, errors } = (problem ?? {}) as Record<string, unknown>;
    super(`${status}: ${detail ?? title ?? 'no details'}${errors ? ` ${JSON.stringify(errors)}` : ''}`);
    this.status = status;
    this.errors = Array.isArray(errors) ? errors : [];
  }
}

/** Return a client of the server at `url`. Nothing is sent before the first call. */
export function createReverie({ url, key, fetch = globalThis.fetch, timeout = 10_000 }: ReverieOptions): Reverie {
  return createClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${key}` },
    fetch: request => {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]);
      return fetch(new Request(request, { signal }));
    },
  });
}

/** Return the data of an answer. Throws `ReverieError` for an error of the server. */
export async function dataOf<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await answer;
  if (data == null) throw new ReverieError(response.status, error);
  return data;
}

export type Hit = components['schemas']['HitSeen'];
export type Turn = components['schemas']['TurnGiven'];
