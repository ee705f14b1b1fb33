export { createControlServer } from './control-server.ts';
export type { ControlCommand, ControlServer, ControlSession } from './control-server.ts';
export { runControlCommand } from './control-client.ts';
export type { ControlRequest, ClientStreams } from './control-client.ts';
