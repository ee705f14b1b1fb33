export { createControlServer } from './control-server.ts';
export type { ControlProgram, ControlServer, Conversation } from './control-server.ts';
export { converse } from './converse.ts';
export type { Ask, NearEnd } from './converse.ts';
