export { createImageProxy } from './image-proxy.ts';
export type { ImageProxy, ImageProxyOptions, ProxiedImage } from './image-proxy.ts';
export type { ImageProxyCounts } from './metrics.ts';
export type { ImageScope } from './signed-url.ts';
