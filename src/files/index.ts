export { nullIfAbsent } from './null-if-absent.ts';
export { syncPath } from './sync-path.ts';
