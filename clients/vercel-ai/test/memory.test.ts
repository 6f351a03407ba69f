/** The middleware and the tools with the AI SDK's mock model, against the server that REVERIE_URL names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateText, stepCountIs, streamText, wrapLanguageModel, type ModelMessage } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import type { LanguageModelV4Content, LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createReverie, memoryMiddleware, memoryTools, ReverieError } from '../src/index.ts';
import { dataOf } from '../src/client.ts';

const url = process.env['REVERIE_URL'] ?? '';
const reverie = createReverie({ url, key: process.env['REVERIE_API_KEY'] ?? '' });
const BRUNO = 'I have a golden retriever named Bruno.';
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function reply(...content: LanguageModelV4Content[]): LanguageModelV4GenerateResult {
  const calls = content.some(part => part.type === 'tool-call');
  const finishReason = { unified: calls ? 'tool-calls' : 'stop', raw: undefined } as const;
  return { content, finishReason, usage, warnings: [] };
}

function says(text: string) {
  return new MockLanguageModelV4({ doGenerate: async () => reply({ type: 'text', text }) });
}

async function sessionTurns(subject_id: string, session_id: string) {
  const query = { subject_id, session_id };
  const { data, response } = await reverie.GET('/v1/working_memory', { params: { query } });
  if (response.status === 404) return []; // no such session
  return data?.turns.map(({ role, text }) => [role, text]);
}

test('what is said is remembered, and told in another session', async () => {
  const subjectId = 'ana';
  const first = wrapLanguageModel({
    model: says('Nice.'),
    middleware: memoryMiddleware(reverie, { subjectId, sessionId: 'first' }),
  });
  for (const _ of [1, 2]) await generateText({ model: first, system: 'Be kind.', prompt: BRUNO });
  assert.deepEqual(await sessionTurns(subjectId, 'first'), [
    ['user', BRUNO],
    ['assistant', 'Nice.'],
    ['assistant', 'Nice.'], // the model answered twice, the person spoke once
  ]);

  const mock = says('Bruno.');
  const second = wrapLanguageModel({
    model: mock,
    middleware: memoryMiddleware(reverie, { subjectId, sessionId: 'second' }),
  });
  const asked = 'What is the name of my golden retriever?';
  assert.equal((await generateText({ model: second, system: 'Be kind.', prompt: asked })).text, 'Bruno.');
  const [system, ...others] = mock.doGenerateCalls[0]!.prompt;
  assert.ok(system?.role === 'system' && system.content.startsWith('Be kind.\n\nWhat is remembered'));
  assert.match(system.content, /Bruno/);
  assert.deepEqual(others.map(message => message.role), ['user']);
});

test('a stream is passed on as it comes, and stored when it ends', async () => {
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'A fine ' },
    { type: 'text-delta', id: '1', delta: 'dog.' },
    { type: 'text-end', id: '1' },
    { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } },
  ];
  const model = wrapLanguageModel({
    model: new MockLanguageModelV4({ doStream: async () => ({ stream: convertArrayToReadableStream(parts) }) }),
    middleware: memoryMiddleware(reverie, { subjectId: 'eve', sessionId: 's1' }),
  });
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: [{ type: 'text', text: BRUNO }] },
  ];
  const deltas = [];
  for await (const delta of streamText({ model, messages }).textStream) deltas.push(delta);
  assert.deepEqual(deltas, ['A fine ', 'dog.']);
  assert.deepEqual(await sessionTurns('eve', 's1'), [
    ['user', BRUNO],
    ['assistant', 'A fine dog.'],
  ]);
});

test('a long message is cut between characters, and its reply is stored', async () => {
  const faults: unknown[] = [];
  const options = { subjectId: 'lia', sessionId: 's1', onError: (error: unknown) => faults.push(error) };
  const model = wrapLanguageModel({
    model: says('b'.repeat(100_001)),
    middleware: memoryMiddleware(reverie, options),
  });
  await generateText({ model, prompt: `${'a'.repeat(19_999)}😀\ud800${'a'.repeat(80_000)}` });
  assert.deepEqual(faults, []);
  const turns = await sessionTurns('lia', 's1');
  assert.deepEqual(turns?.map(([role, text]) => [role, [...text!].length]), [
    ['user', 100_000],
    ['assistant', 100_000],
  ]);
  assert.ok(turns?.[0]?.[1]?.includes('😀\ufffd'));
});

test('NUL characters lose nothing', async () => {
  const faults: unknown[] = [];
  const options = { subjectId: 'nina', sessionId: 's1', onError: (error: unknown) => faults.push(error) };
  const model = wrapLanguageModel({ model: says('40\0.'), middleware: memoryMiddleware(reverie, options) });
  await generateText({ model, prompt: 'The in\0voice?' });
  await generateText({ model, prompt: '\0' });
  assert.deepEqual(faults, []);
  assert.deepEqual(await sessionTurns('nina', 's1'), [
    ['user', 'The invoice?'],
    ['assistant', '40.'],
    ['assistant', '40.'],
  ]);
});

test('a model uses the tools, and the question is stored once', async () => {
  const subjectId = 'kim';
  const steps = [
    reply({ type: 'tool-call', toolCallId: 'c1', toolName: 'remember', input: '{"fact": "Has a cat named Miso."}' }),
    reply({ type: 'tool-call', toolCallId: 'c2', toolName: 'recallMemory', input: '{"question": "Which golden retriever?"}' }),
    reply({ type: 'text', text: 'A dog named Bruno.' }),
  ];
  const mock = new MockLanguageModelV4({ doGenerate: steps });
  const model = wrapLanguageModel({
    model: mock,
    middleware: memoryMiddleware(reverie, { subjectId, sessionId: 's1' }),
  });
  await dataOf(
    reverie.POST('/v1/turns', {
      body: { subject_id: subjectId, session_id: 's0', turns: [{ source_id: 't1', role: 'user', text: BRUNO }] },
    }),
  );
  const tools = memoryTools(reverie, { subjectId });
  const result = await generateText({ model, prompt: 'Which pets do I have?', tools, stopWhen: stepCountIs(3) });
  assert.equal(result.text, 'A dog named Bruno.');
  const outputs = result.steps.flatMap(step => step.toolResults.map(each => each.output));
  assert.equal(outputs[0], 'Noted.');
  assert.match(JSON.stringify(outputs[1]), /Bruno/);
  assert.deepEqual(await sessionTurns(subjectId, 's1'), [
    ['user', 'Which pets do I have?'],
    ['assistant', 'A dog named Bruno.'],
  ]);
});

test('facts are noted though ids of calls begin anew in each conversation', async () => {
  const sent: { source_id: string }[] = [];
  const fetch = async (request: Request) => {
    sent.push(await request.json());
    return Response.json({ events: [] });
  };
  const noting = createReverie({ url: 'http://x', key: 'k', fetch });
  const call = { toolCallId: 'call_1', messages: [], context: undefined as never };
  for (const sessionId of ['s1', 's1', 's2', undefined]) {
    const { remember } = memoryTools(noting, { subjectId: 'ana', ...(sessionId ? { sessionId } : {}) });
    for (const fact of ['Has a cat.', 'Has a dog.']) assert.equal(await remember.execute!({ fact }, call), 'Noted.');
  }
  const ids = sent.map(body => body.source_id);
  assert.deepEqual(ids.slice(0, 2), ids.slice(2, 4)); // the same call, made again
  assert.equal(new Set(ids).size, 6);
});

test('a search tells the question, the doubt and how often it was said', async () => {
  const near = { id: '1', said_at: '2026-03-01T09:00:00Z' };
  const hit = {
    content: 'Yes.',
    reply_to: { ...near, content: 'Do you drink coffee?' },
    doubt: { ...near, content: `I gave\n up\u200b coffee. ${'Really. '.repeat(20)}` },
    times: 2,
    first_at: '2026-01-05T09:00:00Z',
    fresh: true,
  };
  const plain = { ...hit, content: 'Has a cat.', reply_to: null, doubt: null, first_at: null, fresh: false };
  const told = createReverie({ url: 'http://x', key: 'k', fetch: async () => Response.json({ hits: [hit, plain] }) });
  const { recallMemory } = memoryTools(told, { subjectId: 'ana' });
  const [first, second] = (await recallMemory.execute!(
    { question: 'Coffee?' },
    { toolCallId: 'c1', messages: [], context: undefined as never },
  )) as string[];
  assert.match(first!, /^Do you drink coffee\? \/ Yes\. \(may be over; 2026-03-01: “I gave up coffee\. Really\./);
  assert.match(first!, / …”\) \(said 2 times since 2026-01-05\) \(said just now\)$/);
  assert.equal(second, 'Has a cat.');
});

test('a fault of memory never fails a call of the model', async () => {
  const faults: unknown[] = [];
  const options = { subjectId: 'ana', sessionId: 's2', onError: (error: unknown) => faults.push(error) };
  const refused = createReverie({ url, key: 'reverie.wrong' });
  const mock = says('Still here.');
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(refused, options) });
  assert.equal((await generateText({ model, prompt: 'Hello?' })).text, 'Still here.');
  assert.deepEqual(faults.map(error => error instanceof ReverieError && error.status), [401, 401]);
  assert.deepEqual(mock.doGenerateCalls[0]!.prompt.map(message => message.role), ['user']);
});

test('a server that does not answer, or a caller that gives up, ends the wait for memory', async () => {
  const fetch = (request: Request) =>
    new Promise<Response>((_, reject) => {
      const open = setTimeout(() => {}, 10_000); // as a socket would, it keeps the process running
      request.signal.addEventListener('abort', () => {
        clearTimeout(open);
        reject(request.signal.reason);
      });
    });
  const faults: unknown[] = [];
  const onError = (error: unknown) => faults.push(error instanceof Error && error.name);
  const waiting = (timeout: number) =>
    memoryMiddleware(createReverie({ url: 'http://x', key: 'k', fetch, timeout }), { subjectId: 'ana', sessionId: 's2', onError });
  const model = says('Still here.');
  const { text } = await generateText({ model: wrapLanguageModel({ model, middleware: waiting(20) }), prompt: 'Hello?' });
  assert.equal(text, 'Still here.');
  assert.deepEqual(faults, ['TimeoutError', 'TimeoutError']);

  const caller = new AbortController();
  setTimeout(() => caller.abort(), 20);
  const params = { prompt: [], abortSignal: caller.signal };
  assert.equal(await waiting(5_000).transformParams!({ type: 'generate', params, model }), params);
  assert.equal(faults.length, 2); // that the caller gave up is no fault
});

test('the same answer to another question is stored', async () => {
  const middleware = memoryMiddleware(reverie, { subjectId: 'zoe', sessionId: 's1' });
  const model = wrapLanguageModel({ model: says('Done.'), middleware });
  for (const question of ['Book the vet?', 'Book the vet?', 'Tell Ines too?']) {
    const messages: ModelMessage[] = [
      { role: 'assistant', content: question },
      { role: 'user', content: 'Yes' },
    ]; // the last two of a longer conversation
    await generateText({ model, messages });
  }
  const turns = await sessionTurns('zoe', 's1');
  assert.equal(turns?.filter(([role]) => role === 'user').length, 2);
});

test('nothing is stored without remember', async () => {
  const middleware = memoryMiddleware(reverie, { subjectId: 'mia', sessionId: 's1', remember: false });
  await generateText({ model: wrapLanguageModel({ model: says('Yes.'), middleware }), prompt: BRUNO });
  assert.deepEqual(await sessionTurns('mia', 's1'), []);
});

test('an error of the server says what is wrong', async () => {
  const body = { subject_id: '', question: 'tea' };
  await assert.rejects(dataOf(reverie.POST('/v1/recalls', { body })), (error: unknown) => {
    assert.ok(error instanceof ReverieError);
    assert.equal(error.status, 422);
    assert.match(error.message, /subject_id/);
    return true;
  });
});
