import t from 'tap';
import { decodeFileText } from '../../../src/pages/app/decode-text.ts';
import { viewName } from '../../../src/pages/app/printable-names.ts';

t.test('text in any encoding, or none', async (t) => {
  t.equal(decodeFileText(Buffer.from('\ufeffx'))?.text, 'x', 'a byte order mark is no text');
  t.match(decodeFileText(Buffer.concat([Buffer.from([0xfe, 0xff, 0, 0x78])])), { text: 'x', encoding: 'UTF-16' });
  t.match(decodeFileText(Buffer.from([0xfc])), { text: 'ü', encoding: 'Latin-1' });
  t.equal(decodeFileText(Buffer.from('a\0b')), null);
});

t.test('text is decoded whatever its bytes', async (t) => {
  const textOf = (bytes: Buffer) => decodeFileText(bytes)?.text;
  t.equal(textOf(Buffer.from('Grüße')), 'Grüße');
  t.equal(textOf(Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])), 'Grüße');
  t.equal(textOf(Buffer.from('\ufeffx')), 'x', 'a byte order mark is no text');
  t.equal(viewName('a\u200fb'), 'a\ufffdb');
});
