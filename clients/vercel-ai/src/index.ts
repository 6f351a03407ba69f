/**
 * Memory for the Vercel AI SDK over the Reverie API.
 *
 * - `client`: a client typed from the API's OpenAPI document
 * - `middleware`: memory around each call of a language model
 * - `tools`: tools by which a model searches memory and notes facts
 */
export { createReverie, ReverieError, type Reverie, type ReverieOptions } from './client.ts';
export { memoryMiddleware, type MemoryOptions } from './middleware.ts';
export { memoryTools, type MemoryToolOptions } from './tools.ts';
export type { components, paths } from './api.ts';
