/** Tools by which a model searches the memory of a subject and notes what it learned. */
import { jsonSchema, tool, type Tool } from 'ai';
import { dataOf, type Hit, type Reverie } from './client.ts';
import { idOf } from './ids.ts';
import { cut } from './texts.ts';

export interface MemoryToolOptions {
  /** Whose memory it is: a model cannot name another subject. */
  subjectId: string;
  /** The conversation in which a fact is noted. */
  sessionId?: string;
  /** Most hits of a search. Default: 5. */
  topK?: number;
}

/** Most characters of a question or fact. */
const MOST_CHARACTERS = 10_000;

/** The only argument of a tool, a text. */
function text<Name extends string>(name: Name, description: string) {
  return jsonSchema<Record<Name, string>>({
    type: 'object',
    properties: { [name]: { type: 'string', minLength: 1, maxLength: MOST_CHARACTERS, description } },
    required: [name],
    additionalProperties: false,
  });
}

/** Most characters of a message that casts doubt on a memory. */
const DOUBT_CHARACTERS = 100;

/** A hit with the question that it answers, any doubt, and how often it was said, as the server words it. */
function told({ content, doubt, first_at, fresh, reply_to, times }: Hit): string {
  const question = reply_to ? `${reply_to.content} / ` : '';
  const over = doubt ? ` (may be over; ${doubt.said_at.slice(0, 10)}: “${quoted(doubt.content)}”)` : '';
  const often = first_at ? ` (said ${times} times since ${first_at.slice(0, 10)})` : '';
  return `${question}${content}${over}${often}${fresh ? ' (said just now)' : ''}`;
}

/** The beginning of a text on one line, without invisible characters. */
function quoted(text: string): string {
  const words = text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '').trim();
  const signs = [...words]; // not code units, which a cut could halve
  return signs.length <= DOUBT_CHARACTERS ? words : `${signs.slice(0, DOUBT_CHARACTERS).join('')} …`;
}

/** Return the tools `recallMemory` and `remember` for `generateText` and `streamText`. */
export function memoryTools(
  reverie: Reverie,
  { subjectId, sessionId, topK = 5 }: MemoryToolOptions,
): { recallMemory: Tool<{ question: string }, string[]>; remember: Tool<{ fact: string }, string> } {
  return {
    recallMemory: tool({
      description: 'Search what is remembered about the user.',
      inputSchema: text('question', 'A full question.'),
      execute: async ({ question }) => {
        const body = { subject_id: subjectId, question: cut(question, MOST_CHARACTERS), top_k: topK };
        const found = await dataOf(reverie.POST('/v1/recalls', { body }));
        return found.hits.map(told);
      },
    }),
    remember: tool({
      description: 'Note a lasting fact about the user.',
      inputSchema: text('fact', 'One sentence.'),
      execute: async ({ fact }, { toolCallId }) => {
        const body = {
          subject_id: subjectId,
          category: 'fact' as const,
          content: cut(fact, MOST_CHARACTERS),
          // some providers' ids of calls begin anew in each conversation
          source_id: await idOf(sessionId ?? '', toolCallId, fact),
          ...(sessionId ? { session_id: sessionId } : {}),
        };
        await dataOf(reverie.POST('/v1/observations', { body }));
        return 'Noted.';
      },
    }),
  };
}
