export { createImageProxy } from './image-proxy.ts';
export type { ImageProxy, ImageProxyOptions } from './image-proxy.ts';
