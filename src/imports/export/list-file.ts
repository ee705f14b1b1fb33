import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** JSON is YAML, except for characters that YAML requires to be escaped. */
export const toYaml = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped)}\n`;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Writes a YAML list item by item. */
export class ListFile {
  readonly #file: FileHandle;
  count = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<ListFile> {
    return new ListFile(await open(path, 'wx', 0o644));
  }

  async add(item: object): Promise<void> {
    this.count += 1;
    await this.#file.appendFile(`- ${toYaml(item)}`);
  }

  async close(): Promise<void> {
    if (this.count === 0) await this.#file.appendFile('[]\n');
    await this.#file.close();
  }
}
