export { createControlServer } from './control-server.ts';
export type { ControlCommand } from './control-server.ts';
export { runControlCommand } from './control-client.ts';
export type { ControlParameters } from './request-json.ts';
