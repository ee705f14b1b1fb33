export { createControlServer } from './control-server.ts';
export type { ControlCommand, ControlServer, ControlSession } from './control-server.ts';
export { runControlCommand } from './control-client.ts';
export type { ClientStreams } from './control-client.ts';
export type { ControlParameters, ControlRequest } from './request-json.ts';
