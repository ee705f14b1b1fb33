// The addresses that a server without a public name shows: those of its machine, as far as it may ask for them.
import type { networkInterfaces, NetworkInterfaceInfo } from 'node:os';
import t from 'tap';
import { shownAddresses } from '../../src/cli/serving/addresses.ts';
import { loadConfig } from '../../src/config/index.ts';

const { config } = loadConfig({ argvOverrides: {}, env: {}, cwd: '/', readFile: () => '' });
const ipv4 = { address: '192.0.2.7', family: 'IPv4', internal: false } as NetworkInterfaceInfo;
const ipv6 = { address: '2001:db8::7', family: 'IPv6', scopeid: 0, internal: false } as NetworkInterfaceInfo;
const linkLocal = { ...ipv6, address: 'fe80::7', scopeid: 2 } as NetworkInterfaceInfo;
const loopback = { ...ipv4, address: '127.0.0.1', internal: true } as NetworkInterfaceInfo;
/** What Node throws where systemd allows no AF_NETLINK. */
const refused = (): never => {
  throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 97');
};

const cases: [name: string, host: string, interfaces: typeof networkInterfaces, web: string, here: string | null][] = [
  ['IPv4 first', '0.0.0.0', () => ({ lo: [loopback], a: [ipv6], b: [ipv4] }), '192.0.2.7', 'localhost'],
  ['IPv6 alone', '::', () => ({ lo: [loopback], a: [linkLocal, ipv6] }), '[2001:db8::7]', 'localhost'],
  ['link-local alone', '::', () => ({ a: [linkLocal] }), 'localhost', null],
  ['no interface', '0.0.0.0', () => ({ lo: undefined }), 'localhost', null],
  ['interfaces that may not be asked for', '0.0.0.0', refused, 'localhost', null],
  ['one address, no matter what else there is', '127.0.0.1', refused, '127.0.0.1', null],
];

for (const [name, host, interfaces, web, here] of cases)
  t.test(name, async (t) => {
    const shown = shownAddresses(config, { host, port: 3000 }, { host, port: 2222 }, interfaces);
    t.strictSame(shown, {
      web: `http://${web}:3000`,
      webHere: here === null ? null : `http://${here}:3000`,
      ssh: `ssh://git@${web}:2222`,
    });
  });
