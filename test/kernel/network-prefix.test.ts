import t from 'tap';
import { networkPrefix } from '../../src/kernel/index.ts';

t.test('an IPv6 customer counts as one network, and a mapped IPv4 address as IPv4', (t) => {
  const cases: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ];
  for (const [address, network] of cases) t.equal(networkPrefix(address), network, address);
  t.end();
});
