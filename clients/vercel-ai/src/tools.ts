/** Tools by which a model searches the memory of a subject and notes what it learned. */
import { jsonSchema, tool, type Tool } from 'ai';
import { dataOf, type Reverie } from './client.ts';

export interface MemoryToolOptions {
  /** Whose memory it is: a model cannot name another subject. */
  subjectId: string;
  /** The conversation in which a fact is noted. */
  sessionId?: string;
  /** Most hits of a search. Default: 5. */
  topK?: number;
}

/** The only argument of a tool, a text. */
function text<Name extends string>(name: Name, description: string) {
  return jsonSchema<Record<Name, string>>({
    type: 'object',
    properties: { [name]: { type: 'string', minLength: 1, maxLength: 10_000, description } },
    required: [name],
    additionalProperties: false,
  });
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
        const body = { subject_id: subjectId, question, top_k: topK };
        const found = await dataOf(reverie.POST('/v1/recalls', { body }));
        return found.hits.map(hit => hit.content);
      },
    }),
    remember: tool({
      description: 'Note a lasting fact about the user.',
      inputSchema: text('fact', 'One sentence.'),
      execute: async ({ fact }, { toolCallId }) => {
        const body = {
          subject_id: subjectId,
          category: 'fact' as const,
          content: fact,
          source_id: toolCallId,
          ...(sessionId ? { session_id: sessionId } : {}),
        };
        await dataOf(reverie.POST('/v1/observations', { body }));
        return 'Noted.';
      },
    }),
  };
}
