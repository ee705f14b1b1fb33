export { createRpcServer } from './rpc-server.ts';
