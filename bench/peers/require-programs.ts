import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/**
 * Ends the benchmark with the command that installs missing programs, or with `--install` runs it.
 * @param programs program or path → Debian package
 */
export function requirePrograms(programs: Record<string, string>): void {
  const places = (process.env.PATH ?? '').split(':').concat('/usr/sbin');
  const has = (name: string) =>
    name.startsWith('/') ? existsSync(name) : places.some((place) => existsSync(`${place}/${name}`));
  const missing = Object.entries(programs).flatMap(([name, debian]) => (has(name) ? [] : [debian]));
  if (missing.length === 0) return;
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing];
  if (!process.argv.includes('--install')) {
    console.error(`This benchmark needs: ${command.join(' ')}`);
    process.exit(1);
  }
  execFileSync(command[0]!, command.slice(1), { stdio: 'inherit' });
}
