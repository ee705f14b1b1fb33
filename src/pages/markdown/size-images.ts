import type { ImageSize } from '../../images/index.ts';

/** Maximum number of images measured per document, which delays the page; the layout shifts for the others. */
const maxSized = 40;

/** The sanitiser's output: attributes in double quotes, `<` and `>` escaped. */
const tag = /<img ([^<>]*)\/>/g;
const sides = /(^|\s)(width|height)="([^"]*)"/g;

/**
 * Sets width and height of the images in a rendered document, so that the layout does not shift while they load. Sizes
 * in the document stay; the other dimension follows from the image.
 * @param sizeOf returns the size of an image by its URL; null when unknown
 */
export async function sizeImages(
  html: string,
  sizeOf: (address: string) => Promise<ImageSize | null>,
): Promise<string> {
  const addresses = [...new Set([...html.matchAll(tag)].map(([, attributes]) => addressOf(attributes!)))].slice(
    0,
    maxSized,
  );
  if (addresses.length === 0) return html;
  const sizes = new Map(
    await Promise.all(
      addresses.map(
        async (address): Promise<[string, ImageSize | null]> => [
          address,
          address === '' ? null : await sizeOf(address),
        ],
      ),
    ),
  );
  return html.replace(tag, (whole, attributes: string) => {
    const size = sizes.get(addressOf(attributes));
    return size ? `<img ${sized(attributes, size)}/>` : whole;
  });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

const addressOf = (attributes: string): string =>
  (/(?:^|\s)src="([^"]*)"/.exec(attributes)?.[1] ?? '').replace(
    /&(amp|lt|gt|quot);/g,
    (_all, name: string) => entities[name]!,
  );

function sized(attributes: string, own: ImageSize): string {
  const given = new Map([...attributes.matchAll(sides)].map(([, , name, value]) => [name!, value!]));
  const [width, height] = [given.get('width'), given.get('height')];
  // A percentage is not a number of pixels, and two given dimensions are kept.
  if ((width !== undefined && height !== undefined) || [width, height].some((side) => side?.endsWith('%')))
    return attributes;
  const scale =
    width !== undefined ? Number(width) / own.width : height !== undefined ? Number(height) / own.height : 1;
  const round = (length: number): number => Math.max(1, Math.round(length * scale));
  return `${attributes.replace(sides, '').trim()} width="${round(own.width)}" height="${round(own.height)}" `;
}
