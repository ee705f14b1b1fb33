import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nameOf } from './bill-of-materials.ts';
import type { LockFile } from './bill-of-materials.ts';

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** The licences of everything that a release contains, in one text: equal ones once, with their packages. */
export async function licenceTexts(source: string, lock: LockFile): Promise<string> {
  const packagesOf = new Map<string, string[]>();
  const names = new Set<string>();
  for (const [path, locked] of lock) {
    const name = `${nameOf(path, locked)} ${locked.version}`;
    if (names.has(name)) continue;
    names.add(name);
    const text = (await filesOf(join(source, path))) ?? `Licence: ${locked.license ?? 'see its package.json'}`;
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), name]);
  }
  const sections = [...packagesOf].map(([text, packages]) => `${packages.sort().join('\n')}\n\n${text.trim()}\n`);
  return `Hearth contains these packages under these licences.\n\n${sections.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** Null when a package has no such file, or is for another processor and not here. */
async function filesOf(folder: string): Promise<string | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile() && licenceFile.test(entry.name)).map(({ name }) => name);
  const texts = await Promise.all(names.sort().map((name) => readFile(join(folder, name), 'utf8')));
  return texts.length === 0 ? null : texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
}
