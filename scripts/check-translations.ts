/**
 * Checks the message catalogues of `translations/`: each message can be read, has the placeholders, tags and plural
 * forms that it must have, holds no HTML, and is used. Prints a sentence for each finding and fails with them.
 *
 * usage: scripts/check-translations [LANGUAGE...]
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalogue, checkUse } from './translations/check-catalogue.ts';

const project = join(import.meta.dirname, '..');
const read = (language: string): unknown =>
  JSON.parse(readFileSync(join(project, 'translations', `${language}.json`), 'utf8'));

const source = read('en') as Record<string, string>;
const wanted = process.argv.slice(2);
const languages = globSync('*.json', { cwd: join(project, 'translations') })
  .map((file) => file.replace(/\.json$/, ''))
  .filter((language) => wanted.length === 0 || wanted.includes(language))
  .sort();

const findings: string[] = [];
for (const language of languages) {
  let catalogue: unknown;
  try {
    catalogue = read(language);
  } catch (error) {
    findings.push(`${language}: the file is not JSON: ${(error as Error).message}`);
    continue;
  }
  findings.push(...checkCatalogue({ language, catalogue, source }));
  const share = Object.keys(catalogue as object).length / Object.keys(source).length;
  console.log(`${language}: ${Object.keys(catalogue as object).length} messages, ${Math.floor(share * 100)}%`);
}
if (wanted.length === 0) findings.push(...checkUse(source, project));
for (const finding of findings) console.error(finding);
process.exit(findings.length === 0 ? 0 : 1);
