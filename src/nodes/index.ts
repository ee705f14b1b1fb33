export { belongsHere, belongsToNobody, isAlone } from './conditions.ts';
export { createLeases } from './leases.ts';
export type { Leases, Turn } from './leases.ts';
export { nodeIdOf } from './node-id.ts';
export { createNodes } from './node-registry.ts';
export type { Nodes, ServingNode } from './node-registry.ts';
