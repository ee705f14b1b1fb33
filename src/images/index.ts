export { createImageStore } from './image-store.ts';
export type { ImageStore, ImageStoreOptions, OpenedImage, StoredImage } from './image-store.ts';
export { sniffedBytes, sniffImageType } from './image-type.ts';
export type { ImageType } from './image-type.ts';
export { imageSize } from './image-size.ts';
export type { ImageSize } from './image-size.ts';
export { imageTooLarge, maxImageBytes, parseImage } from './parse-image.ts';
export type { Image, ImageUpload } from './parse-image.ts';
export { stripMetadata } from './strip-metadata.ts';
