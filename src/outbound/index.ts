export { createOutbound } from './outbound.ts';
export { allowedHostsHint, isAllowedHost } from './allowed-hosts.ts';
export type { Outbound, OutboundLimits, OutboundOptions } from './outbound.ts';
export { isPublicAddress } from './public-address.ts';
export type { ResolveName } from './resolve-name.ts';
export type { OutboundResponse } from './send-request.ts';
export { networkErrorMessage } from './network-error-message.ts';
export type { StreamedResponse } from './open-request.ts';
