import type { OptionType } from './option-types.ts';
import type { Option, Options } from './options.ts';

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type Section<Key extends string> = Key extends `${infer Name}.${string}` ? Name : never;
type InSection<Name extends string> = Extract<Options, { key: `${Name}.${string}` }>;

type ValueOf<Row extends Options> =
  Row['type'] extends OptionType<infer Value, string> ? (Row['default'] extends null ? Value | null : Value) : never;

type FieldOf<Row extends Options, Name extends string> =
  Row['type'] extends OptionType<unknown, infer Suffix> ? `${CamelCase<Name>}${Suffix}` : never;

type TopLevel = {
  readonly [Row in Options as Row['key'] extends `${string}.${string}`
    ? never
    : FieldOf<Row, Row['key']>]: ValueOf<Row>;
};

type Sections = {
  readonly [Name in Section<Options['key']>]: {
    readonly [Row in InSection<Name> as Row['key'] extends `${Name}.${infer Rest}`
      ? FieldOf<Row, Rest>
      : never]: ValueOf<Row>;
  };
};

/**
 * The settings of one run, checked and deep-frozen. Its shape follows the options
 * table: `ssh.public_port` is `config.ssh.publicPort`, durations end with `Ms`,
 * sizes with `Bytes`, paths are absolute.
 */
export type Config = TopLevel & Sections;

/** `low_disk_floor` with suffix `Bytes` → `lowDiskFloorBytes`; the value side of `FieldOf`. */
export function fieldName(name: string, suffix: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) + suffix;
}

/** The value of the option `key` (`ssh.public_port`), for code that walks the table. */
export function configValue(config: Config, option: Pick<Option, 'key' | 'type'>): unknown {
  const [first = '', second] = option.key.split('.');
  const root = config as unknown as Record<string, Record<string, unknown>>;
  return second === undefined
    ? root[fieldName(first, option.type.suffix)]
    : root[first]?.[fieldName(second, option.type.suffix)];
}
