/**
 * The fields of a submitted form. Pages read fields by name; they get nothing else of the body. For a repeated field
 * `text` returns the first value and `all` every value.
 */
export interface Form {
  /** The field's value with CR LF replaced by LF, or '' if it is absent. */
  text(name: string): string;
  /** Every value of a repeated field, such as a group of check-boxes. */
  all(name: string): string[];
  /** All fields in order, for showing a form again as submitted. */
  entries(): [name: string, value: string][];
}

type Fields = Readonly<Record<string, string | readonly string[]>>;

const withPlainNewlines = (text: string): string => text.replaceAll('\r\n', '\n');

/** @param fields a null-prototype object, so that no field name finds inherited properties */
export function createForm(fields: Fields): Form {
  const all = (name: string): string[] => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value;
    return values.map(withPlainNewlines);
  };
  return {
    all,
    text: (name) => all(name)[0] ?? '',
    entries: () => Object.keys(fields).flatMap((name) => all(name).map((value): [string, string] => [name, value])),
  };
}

export const emptyForm: Form = createForm({});
