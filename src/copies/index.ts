import { keptCopySchema } from './kept-copy-schema.ts';

export { createCopies } from './copies.ts';
export type { Copies } from './copies.ts';
export type { KeptCopy } from './describe-copies.ts';

export const copyEntities = [keptCopySchema];
