export { createRpcServer } from './rpc-server.ts';
export type { RpcOptions, RpcServer } from './rpc-server.ts';
