/** Pictures that browsers show and that cannot act. */
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

/** The type of a picture by the name of its file; null for anything else. */
export const imageType = (name: string): string | null =>
  Object.hasOwn(images, endingOf(name)) ? images[endingOf(name)]! : null;

/** Documents that would run as pages of ours: they are only ever downloaded (security C03). */
export const isActive = (name: string): boolean =>
  ['svg', 'svgz', 'html', 'htm', 'xhtml', 'xht', 'xml', 'mht', 'mhtml'].includes(endingOf(name));

/** A document that browsers show by themselves, apart from the page that it is in. */
export const isPdf = (name: string): boolean => endingOf(name) === 'pdf';

/** A notebook of Jupyter. */
export const isNotebook = (name: string): boolean => endingOf(name) === 'ipynb';
