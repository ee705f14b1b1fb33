import type { EntitySchema, EntitySchemaColumnOptions } from 'typeorm';
import { internal } from '../kernel/index.ts';

/**
 * Answers the rows of a table whose columns have these values, at most `maxRows`. For the
 * few questions that nearly every request asks: its statement is prepared once, and its
 * rows are read without a mapper's work, which costs more than all the rest of a short
 * answer. Sees what `read` sees.
 */
export type Lookup = <Row extends object>(schema: EntitySchema<Row>, where: Partial<Row>) => Row[];

const maxRows = 16;

interface Statement {
  all(...parameters: unknown[]): unknown[];
}

interface Prepared {
  statement: Statement;
  columns: readonly (readonly [property: string, column: string, isBoolean: boolean])[];
}

type Asked = readonly [property: string, isNull: boolean];

/** @param prepare of the reading connection */
export function createLookup(prepare: (sql: string) => Statement): Lookup {
  const known = new WeakMap<object, Map<string, Prepared>>();

  function preparedFor(schema: EntitySchema<never>, asked: readonly Asked[]): Prepared {
    let ofSchema = known.get(schema);
    if (ofSchema === undefined) known.set(schema, (ofSchema = new Map()));
    const name = asked.join();
    let found = ofSchema.get(name);
    if (found === undefined) ofSchema.set(name, (found = prepareFor(schema, asked)));
    return found;
  }

  function prepareFor({ options }: EntitySchema<never>, asked: readonly Asked[]): Prepared {
    const entries = Object.entries<EntitySchemaColumnOptions | undefined>(options.columns);
    const columns = entries.map(([property, column]) => {
      if (column === undefined || column.transformer !== undefined) throw internal('a lookup reads plain columns only');
      return [property, column.name ?? property, column.type === 'boolean'] as const;
    });
    const columnOf = new Map(columns.map(([property, column]) => [property, column]));
    const conditions = asked.map(([property, isNull]) => `"${columnOf.get(property)}" ${isNull ? 'IS NULL' : '= ?'}`).join(' AND ');
    const selected = columns.map(([, column]) => `"${column}"`).join(', ');
    const statement = prepare(`SELECT ${selected} FROM "${options.tableName}" WHERE ${conditions} LIMIT ${maxRows}`);
    return { statement, columns };
  }

  return <Row extends object>(schema: EntitySchema<Row>, where: Partial<Row>): Row[] => {
    const asked = Object.entries(where).map(([property, value]) => [property, value === null] as const);
    const { statement, columns } = preparedFor(schema as unknown as EntitySchema<never>, asked);
    const rows = statement.all(...Object.values(where).filter((value) => value !== null)) as Record<string, unknown>[];
    return rows.map((row) => {
      const mapped: Record<string, unknown> = {};
      for (const [property, column, isBoolean] of columns) mapped[property] = isBoolean ? row[column] !== 0 : row[column];
      return mapped as Row;
    });
  };
}
