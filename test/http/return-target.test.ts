import t from 'tap';
import { returnTarget } from '../../src/http/request/return-target.ts';

t.test('security C08 a return target is a path on this server', async (t) => {
  for (const path of ['/', '/repos/new', '/search?q=a%20b&x=//y', '/a\\b', '/#//x', '/日本'])
    t.equal(returnTarget(path), path);
  const refused = [
    '',
    null,
    undefined,
    'repos',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/a\r\nSet-Cookie: x=y',
    '/\u0000',
    '/\u0085',
    ' /a',
    `/${'x'.repeat(3000)}`,
  ];
  for (const path of refused) t.equal(returnTarget(path), '/', JSON.stringify(path));
});
