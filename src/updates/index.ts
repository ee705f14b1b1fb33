/** Releases at an address or in a folder: what is new there, and whether a program is the one that was signed. */
export { checkForUpdate } from './check-for-update.ts';
export type { OfferedUpdate } from './check-for-update.ts';
export type { ReleaseSource } from './with-release.ts';
export { verifyProgram } from './verify-program.ts';
