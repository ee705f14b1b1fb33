/**
 * The fields of a submitted form. Pages ask for the fields they know by name;
 * nothing else of the body reaches them. A repeated field returns its first
 * value to `text` and all of them to `all`.
 */
export interface Form {
  /** The field's value with CR LF turned into LF, or '' when it is absent. */
  text(name: string): string;
  /** Every value of a repeated field, such as a group of check-boxes. */
  all(name: string): string[];
  /** All fields in their order, for a form that is shown once more as it was sent. */
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
