import t from 'tap';
import { readCookie, writeCookie } from '../../src/http/request/cookies.ts';

t.test('cookies are read by exact name and written with their guards', async (t) => {
  t.equal(readCookie('a=1; hearth_session=abc; b=2', 'hearth_session'), 'abc');
  t.equal(readCookie('xhearth_session=no; hearth_session=first; hearth_session=second', 'hearth_session'), 'first');
  t.equal(readCookie('hearth_session', 'hearth_session'), null);
  t.equal(readCookie(undefined, 'x'), null);
  t.equal(
    writeCookie({ name: '__Host-hearth', value: 'v', maxAgeSeconds: 60.9, httpOnly: true, secure: true }),
    '__Host-hearth=v; Path=/; Max-Age=60; SameSite=Lax; HttpOnly; Secure',
  );
});
