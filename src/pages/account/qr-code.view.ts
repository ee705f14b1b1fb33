/** A QR code as one SVG path in units of its modules, with a margin of four modules. */
interface QrCodeView {
  size: number;
  path: string;
}

/** The margin that scanners need on each side (ISO/IEC 18004, §9.1). */
const quietZone = 4;

export async function viewQrCode(text: string): Promise<QrCodeView> {
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { ecc: 'M', border: quietZone });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < size; x += 1) {
      if (!row[x]) continue;
      let width = 1;
      while (row[x + width]) width += 1;
      path += `M${x} ${y}h${width}v1h-${width}z`;
      x += width;
    }
  }
  return { size, path };
}
