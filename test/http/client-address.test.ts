import t from 'tap';
import { createClientReader } from '../../src/http/request/client-address.ts';

t.test('forwarded headers count from trusted peers only', async (t) => {
  const claim = {
    'x-forwarded-for': '9.9.9.9, 203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'git.example.org',
  };
  const byDefault = createClientReader(['loopback']);
  t.same(byDefault('127.0.0.1', claim), {
    address: '203.0.113.7',
    forwardedProto: 'https',
    forwardedHost: 'git.example.org',
  });
  t.equal(byDefault('::ffff:127.0.0.1', claim).forwardedProto, 'https', 'an IPv4 proxy on a dual-stack socket');
  t.equal(byDefault('::1', claim).address, '203.0.113.7');
  for (const untrusted of ['192.168.1.9', '10.0.0.1', '203.0.113.9', 'fd00::1', '']) {
    t.same(
      byDefault(untrusted, claim),
      { address: untrusted, forwardedProto: null, forwardedHost: null },
      untrusted || 'no address',
    );
  }
  t.same(
    createClientReader([])('127.0.0.1', claim),
    { address: '127.0.0.1', forwardedProto: null, forwardedHost: null },
    'an empty list trusts nobody',
  );

  const lan = createClientReader(['private', '2001:db8::5', '198.51.100.0/24']);
  for (const peer of ['192.168.1.9', '10.9.8.7', '172.31.0.1', 'fd12::1', '2001:db8::5', '198.51.100.77']) {
    t.equal(lan(peer, claim).address, '203.0.113.7', peer);
  }
  for (const peer of ['127.0.0.1', '172.32.0.1', '169.254.1.1', '100.64.0.1', '2001:db8::6'])
    t.equal(lan(peer, claim).address, peer);

  t.equal(
    lan('10.0.0.1', { 'x-forwarded-for': '203.0.113.7, 10.0.0.2, 192.168.0.3' }).address,
    '203.0.113.7',
    'trusted hops are skipped',
  );
  t.equal(
    lan('10.0.0.1', { 'x-forwarded-for': 'unknown, "x", 10.0.0.2' }).address,
    '10.0.0.1',
    'what is no address is nobody',
  );
  t.equal(lan('10.0.0.1', { 'x-forwarded-proto': 'gopher' }).forwardedProto, null);
  t.equal(
    lan('10.0.0.1', { 'x-forwarded-proto': 'https, http' }).forwardedProto,
    'http',
    'the nearest proxy knows best',
  );
  t.throws(() => createClientReader(['nonsense']), /nonsense/);
});
