import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { waitAtMost } from '../kernel/index.ts';

/** Resolves a host name; rejects with an error that has a `code` such as ENOTFOUND. */
export type ResolveName = (name: string) => Promise<string[]>;

/** After one address family has been resolved, additional time for the other in milliseconds. */
const secondFamilyMs = 300;

/**
 * A resolver that avoids the thread pool, where a few dead name servers would block every signature and file access of
 * the process. Reads the hosts file, then queries DNS for both families.
 */
export function createNameResolver({ hostsFile = '/etc/hosts' }: { hostsFile?: string } = {}): ResolveName {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 });
  return async (name) => {
    const known = await addressesInFile(hostsFile, name);
    if (known.length > 0) return known;
    return firstAddresses(resolver.resolve4(name), resolver.resolve6(name));
  };
}

async function firstAddresses(v4: Promise<string[]>, v6: Promise<string[]>): Promise<string[]> {
  const results: string[][] = [];
  const both = Promise.allSettled([v4.then((found) => (results[0] = found)), v6.then((found) => (results[1] = found))]);
  await Promise.any([v4, v6]).catch(() => {});
  await waitAtMost(both, secondFamilyMs);
  const found = results.flat();
  return found.length > 0 ? found : v4;
}

/** Administrators list local machines in the hosts file, which other programs on this machine also use. */
async function addressesInFile(file: string, name: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isNamed = names.some((other) => other.toLowerCase() === name.toLowerCase());
    return isNamed && isIP(address) !== 0 ? [address] : [];
  });
}
