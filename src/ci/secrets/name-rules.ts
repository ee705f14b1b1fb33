import { invalid } from '../../kernel/index.ts';

const maxValueBytes = 64 * 1024;
/** Limit of secrets, and of variables, per scope. */
export const maxPerScope = 100;

const shape = /^[A-Z_][A-Z0-9_]{0,99}$/;
/** Prefixes of names that runners set themselves. */
const reservedPrefix = /^(?:GITHUB|GITEA|FORGEJO|ACTIONS|RUNNER|HEARTH)_/;

/** Parses the name of a secret or variable and converts it to upper case. Throws `invalid_secret_name`. */
export function parseSecretName(text: string): string {
  const name = text.trim().toUpperCase();
  const refuse = (message: string) => invalid('invalid_secret_name', message, { field: 'name' });
  if (!shape.test(name)) throw refuse('A name consists of letters, digits and "_", and does not begin with a digit.');
  if (reservedPrefix.test(name)) throw refuse(`Names that begin with ${name.split('_')[0]}_ belong to the runner.`);
  return name;
}

/** Throws `invalid_secret_value`. */
export function checkValue(value: string): string {
  if (value === '') throw invalid('invalid_secret_value', 'Enter a value.', { field: 'value' });
  if (Buffer.byteLength(value) > maxValueBytes)
    throw invalid('invalid_secret_value', 'A value can be at most 64 KiB.', { field: 'value' });
  return value;
}
