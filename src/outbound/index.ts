export { createOutbound } from './outbound.ts';
export { howToAllow, isListed } from './host-list.ts';
export type { Outbound, OutboundLimits, OutboundOptions } from './outbound.ts';
export type { OutboundRules } from './check-url.ts';
export { isPublicAddress } from './public-address.ts';
export type { ResolveName } from './resolve-name.ts';
export type { OutboundResponse, OutboundRequest } from './send-request.ts';
export { failureMessage } from './failure-messages.ts';
