import { crc32 } from 'node:zlib';
import t from 'tap';
import { imageSize, sniffImageType, stripMetadata } from '../../src/images/index.ts';
import { sampleImages } from './sample-images.ts';

const secret = 'GPS 52.5200 13.4050 by carol';
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A TIFF header whose directory has the orientation, among other things, and a text behind it. */
function exif(orientation: number, order: 'II' | 'MM' = 'II'): Buffer {
  const isLittle = order === 'II';
  const bytes = Buffer.alloc(8 + 2 + 24 + 4);
  const short = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(order, 'latin1');
  short(42, 2);
  long(8, 4);
  short(2, 8);
  short(0x010f, 10); // the maker
  short(2, 12);
  long(4, 14);
  short(0x0112, 22);
  short(3, 24);
  long(1, 26);
  short(orientation, 30);
  return Buffer.concat([bytes, latin1(secret)]);
}

const jpegSegment = (marker: number, payload: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
};
const pngChunk = (type: string, data: Buffer): Buffer => {
  const bytes = Buffer.concat([Buffer.alloc(4), latin1(type), data, Buffer.alloc(4)]);
  bytes.writeUInt32BE(data.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
};
const webpChunk = (type: string, data: Buffer): Buffer => {
  const bytes = Buffer.alloc(8 + data.length + (data.length % 2));
  bytes.write(type, 'latin1');
  bytes.writeUInt32LE(data.length, 4);
  data.copy(bytes, 8);
  return bytes;
};
const webp = (...chunks: Buffer[]): Buffer => {
  const body = Buffer.concat([latin1('WEBP'), ...chunks]);
  const head = Buffer.alloc(8);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
};
const profile = latin1('ICC_PROFILE\0\x01\x01 colours of a camera');

const jpegHead = sampleImages['image/jpeg'].subarray(0, 20);
const jpegRest = sampleImages['image/jpeg'].subarray(20);
const jpegWith = (...segments: Buffer[]): Buffer =>
  Buffer.concat([jpegHead, ...segments, jpegRest, Buffer.from([0xff, 0xd9])]);
const png = sampleImages['image/png'];
const pngWith = (...chunks: Buffer[]): Buffer => Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
const gif = sampleImages['image/gif'];
const gifWith = (...blocks: Buffer[]): Buffer => Buffer.concat([gif.subarray(0, 19), ...blocks, gif.subarray(19)]);
const vp8l = sampleImages['image/webp'].subarray(12);
const vp8x = (flags: number): Buffer => webpChunk('VP8X', Buffer.from([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
const gifBlock = (label: number, ...parts: Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from([0x21, label]),
    ...parts.map((part) => Buffer.concat([Buffer.from([part.length]), part])),
    Buffer.from([0]),
  ]);

const withSecrets: Record<string, Buffer> = {
  'a JPEG': Buffer.concat([
    jpegWith(
      jpegSegment(0xe1, Buffer.concat([latin1('Exif\0\0'), exif(6)])),
      jpegSegment(0xe1, latin1(`http://ns.adobe.com/xap/1.0/\0<x>${secret}</x>`)),
      jpegSegment(0xed, latin1(`Photoshop 3.0\0${secret}`)),
      jpegSegment(0xe2, latin1(`MPF\0${secret}`)),
      jpegSegment(0xfe, latin1(secret)),
    ),
    latin1(`a second picture ${secret}`),
  ]),
  'a PNG': Buffer.concat([
    pngWith(
      pngChunk('tEXt', latin1(`Author\0${secret}`)),
      pngChunk('iTXt', latin1(`XML:com.adobe.xmp\0\0\0\0\0${secret}`)),
      pngChunk('eXIf', exif(6)),
      pngChunk('tIME', Buffer.alloc(7)),
      pngChunk('prVt', latin1(secret)),
    ),
    latin1(secret),
  ]),
  'a GIF': Buffer.concat([
    gifWith(
      gifBlock(0xfe, latin1(secret)),
      gifBlock(0xff, latin1('XMP DataXMP'), latin1(secret)),
      gifBlock(0x01, Buffer.alloc(12), latin1(secret)),
    ),
    latin1(secret),
  ]),
  'a WebP': Buffer.concat([
    webp(
      vp8x(0x0c),
      vp8l,
      webpChunk('EXIF', exif(6)),
      webpChunk('XMP ', latin1(secret)),
      webpChunk('NOTE', latin1(secret)),
    ),
    latin1(secret),
  ]),
};

t.test('no metadata is left of any of the four types, and the picture is', async (t) => {
  for (const [name, bytes] of Object.entries(withSecrets)) {
    const stripped = stripMetadata(bytes)!;
    t.notMatch(stripped.toString('latin1'), /GPS|carol|adobe|Photoshop/i, name);
    t.equal(sniffImageType(stripped), sniffImageType(bytes), name);
    t.not(imageSize(stripped), null, name);
    t.ok(stripMetadata(stripped)!.equals(stripped), `${name}: a second time changes nothing`);
  }
});

t.test('a plain picture stays as it is, byte for byte', async (t) => {
  for (const [type, bytes] of Object.entries(sampleImages)) {
    const expected = type === 'image/jpeg' ? Buffer.concat([bytes, Buffer.from([0xff, 0xd9])]) : bytes;
    t.strictSame(stripMetadata(bytes)?.toString('hex'), expected.toString('hex'), type);
  }
});

t.test('the orientation stays, alone, in both byte orders', async (t) => {
  for (const order of ['II', 'MM'] as const) {
    const jpeg = stripMetadata(jpegWith(jpegSegment(0xe1, Buffer.concat([latin1('Exif\0\0'), exif(6, order)]))))!;
    t.match(jpeg.toString('latin1'), /Exif\0\0MM\0\*/);
    t.notMatch(jpeg.toString('latin1'), secret);
  }
  const turned = jpegWith(
    jpegSegment(0xe1, Buffer.concat([latin1('Exif\0\0'), exif(6)])),
    // One pixel would look the same either way.
  );
  const wide = Buffer.from(turned);
  const frame = wide.indexOf(Buffer.from([0xff, 0xc2]));
  wide.writeUInt16BE(7, frame + 5);
  wide.writeUInt16BE(3, frame + 7);
  t.same(imageSize(wide), { width: 7, height: 3 });
  t.same(imageSize(stripMetadata(wide)!), { width: 7, height: 3 }, 'a reader finds it where it was');

  t.match(stripMetadata(withSecrets['a PNG']!)!.toString('latin1'), /eXIfMM\0\*/);
  const webpStripped = stripMetadata(withSecrets['a WebP']!)!;
  t.match(webpStripped.toString('latin1'), /EXIF/);
  t.equal(webpStripped[20], 0x08, 'the flags say Exif, and no XMP');
  t.equal(webpStripped.readUInt32LE(4), webpStripped.length - 8);
  for (const upright of [1, 0, 9]) {
    const jpeg = stripMetadata(jpegWith(jpegSegment(0xe1, Buffer.concat([latin1('Exif\0\0'), exif(upright)]))))!;
    t.notMatch(jpeg.toString('latin1'), /Exif/, `orientation ${upright} says nothing`);
  }
});

t.test('colours stay: the ICC profile, and how Adobe coded them', async (t) => {
  const adobe = latin1('Adobe\0\x64\0\0\0\0\x02');
  const jpeg = stripMetadata(jpegWith(jpegSegment(0xe2, profile), jpegSegment(0xee, adobe)))!;
  t.ok(jpeg.includes(profile));
  t.ok(jpeg.includes(adobe));
  const iccp = pngChunk('iCCP', latin1('camera\0\0deflated'));
  t.ok(stripMetadata(pngWith(iccp))!.includes(iccp));
  const icc = gifBlock(0xff, latin1('ICCRGBG1012'), latin1('colours'));
  const repeats = gifBlock(0xff, latin1('NETSCAPE2.0'), Buffer.from([1, 0, 0]));
  const kept = stripMetadata(gifWith(icc, repeats))!;
  t.ok(kept.includes(icc));
  t.ok(kept.includes(repeats));
  t.ok(stripMetadata(webp(vp8x(0x20), webpChunk('ICCP', profile), vp8l))!.includes(profile));
});

t.test('a thumbnail in the JFIF header goes: it may show what was cut away', async (t) => {
  const header = latin1('JFIF\0\x01\x01\x01\0\x48\0\x48\x02\x01');
  const bytes = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xe0, Buffer.concat([header, latin1('thumbs')])),
    jpegRest,
    Buffer.from([0xff, 0xd9]),
  ]);
  t.notMatch(stripMetadata(bytes)!.toString('latin1'), /thumbs/);
});

t.test('frames of an animated WebP lose what is no picture', async (t) => {
  const frame = webpChunk('ANMF', Buffer.concat([Buffer.alloc(16), vp8l, webpChunk('NOTE', latin1(secret))]));
  const stripped = stripMetadata(webp(vp8x(0x02), webpChunk('ANIM', Buffer.alloc(6)), frame))!;
  t.notMatch(stripped.toString('latin1'), secret);
  t.ok(stripped.includes(vp8l));
});

t.test('a damaged file is refused, wherever it is cut, and nothing takes long', async (t) => {
  t.equal(stripMetadata(Buffer.from('hello')), null);
  for (const [name, bytes] of Object.entries(withSecrets)) {
    for (let length = 12; length < bytes.length; length += 1) {
      const stripped = stripMetadata(bytes.subarray(0, length));
      if (stripped !== null) t.notMatch(stripped.toString('latin1'), /GPS/, `${name}, ${length} bytes`);
    }
    for (let at = 12; at < bytes.length; at += 1) {
      const odd = Buffer.from(bytes);
      odd[at] = 0xff;
      stripMetadata(odd);
    }
  }
  const millions = Buffer.alloc(10 * 1024 * 1024, 0xff);
  for (const bytes of [jpegHead, png.subarray(0, 33), gif.subarray(0, 19), vp8l])
    stripMetadata(Buffer.concat([bytes, millions]));
  t.equal(
    stripMetadata(Buffer.concat([png.subarray(0, 8), Buffer.from([0xff, 0xff, 0xff, 0xff]), latin1('IHDR')])),
    null,
  );
});
