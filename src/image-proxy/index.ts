export { createImageProxy } from './image-proxy.ts';
export type { ImageProxy, ImageProxyOptions, ProxiedImage } from './image-proxy.ts';
export type { ImageProxyCounts } from './counts.ts';
export type { ImageScope } from './signed-address.ts';
