import t from 'tap';
import { sendRequest, password, startWeb } from '../../fixtures/web-fixture.ts';

t.test('security D13, I06, I09 forms outside their limits are refused in words', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const post = (body: string | Buffer, headers: Record<string, string> = {}, target = '/login') =>
    sendRequest(web, target, { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers } });
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=x`).join('&');
  t.equal(
    (await post(`username=alice&password=${password}&${fields(90)}`)).status,
    303,
    'fields nobody asked for are ignored',
  );
  t.equal((await post(fields(101))).status, 413);
  t.equal((await post(`username=${'x'.repeat(70_000)}`)).status, 413);
  t.equal((await post(`username=${'x'.repeat(70_000)}`, { 'Transfer-Encoding': 'chunked' })).status, 413);
  t.equal((await post('{"username":"alice"}', { 'Content-Type': 'application/json' })).status, 415);
  t.equal((await post(Buffer.from('x'), { 'Content-Encoding': 'gzip' })).status, 415);
  t.equal((await post('--b\r\n', { 'Content-Type': 'multipart/form-data; boundary=b' })).status, 415);
  const shapes = [
    'username[]=a&username[]=b',
    'username[x]=1',
    'username.x=1',
    '__proto__[x]=1&__proto__=2',
    'constructor=1&toString=2',
    'username=%00',
    'username=%ff%fe',
    'username=%ED%A0%80',
    '%',
    '=',
    '&&&',
    'a[b][c][d][e][f][g]=1',
    `${'['.repeat(200)}=1`,
    'username=a&username=b',
  ];
  for (const shape of shapes) t.equal((await post(shape, {}, '/settings/appearance')).status, 303, shape.slice(0, 30));
  for (const shape of shapes.slice(0, 8)) t.equal((await post(shape)).status, 422, shape);
  t.equal((await sendRequest(web, '/login', { method: 'POST' })).status, 422, 'no body at all');
  t.equal(({} as Record<string, unknown>)['x'], undefined);
  t.equal(web.log.filter(({ level }) => level === 'error').length, 0);
});
