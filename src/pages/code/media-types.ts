/** Image types that browsers display and that cannot run scripts. */
const images: Readonly<Record<string, string>> = {
  png: 'image/png',
  apng: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

/** The image type by file name; null for other files. */
export const imageType = (name: string): string | null =>
  Object.hasOwn(images, endingOf(name)) ? images[endingOf(name)]! : null;

/** Documents that would run as our own pages: they are always downloaded (security C03). */
export const isActive = (name: string): boolean =>
  ['svg', 'svgz', 'html', 'htm', 'xhtml', 'xht', 'xml', 'mht', 'mhtml'].includes(endingOf(name));

/** A document that browsers display in a separate viewer. */
export const isPdf = (name: string): boolean => endingOf(name) === 'pdf';

/** A Jupyter notebook. */
export const isNotebook = (name: string): boolean => endingOf(name) === 'ipynb';
