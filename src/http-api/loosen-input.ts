import { z } from 'zod';

/** The part of JSON Schema that this file reads. */
interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

const known = new WeakMap<z.ZodType, JsonSchema>();

/** The schema of an input, converted once. */
function schemaOf(shape: z.ZodType): JsonSchema {
  let schema = known.get(shape);
  if (schema === undefined) known.set(shape, (schema = z.toJSONSchema(shape, { io: 'input' }) as JsonSchema));
  return schema;
}

/** A parameter of a query. */
interface QueryParameter {
  type: string | undefined;
  isRequired: boolean;
  isEnum: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
}

const parametersByQuery = new WeakMap<z.ZodType, Map<string, QueryParameter>>();

/** The parameters of a query: they are all texts; the schema decides which of them are numbers or lists. */
export function parametersOf(query: z.ZodType): Map<string, QueryParameter> {
  const made = parametersByQuery.get(query);
  if (made !== undefined) return made;
  const { properties = {}, required = [] } = schemaOf(query);
  const parameters = new Map(
    Object.entries(properties).map(([name, { type, enum: values, minimum, maximum }]) => [
      name,
      {
        type: typeof type === 'string' ? type : undefined,
        isRequired: required.includes(name),
        isEnum: values !== undefined,
        minimum,
        maximum,
      },
    ]),
  );
  parametersByQuery.set(query, parameters);
  return parameters;
}

/**
 * Prepares a body in the style of Gitea's clients for its schema: null counts as omitted unless the schema allows it,
 * an empty text counts as omitted for an enumeration, and unknown keys are removed.
 * @returns also the paths of the unknown keys
 */
export function loosenBody(body: z.ZodType, value: unknown): { value: unknown; ignored: string[] } {
  const root = schemaOf(body);
  const ignored: string[] = [];
  return { value: loosen(root, value, root, '', ignored), ignored };
}

function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : (root.$defs?.[name] ?? schema);
}

function takesNull(given: JsonSchema, root: JsonSchema): boolean {
  const schema = resolve(given, root);
  const { type, anyOf } = schema;
  if (type === undefined && anyOf === undefined && schema.enum === undefined && !('const' in schema)) return true;
  if (type === 'null' || (Array.isArray(type) && type.includes('null')) || schema.const === null) return true;
  return anyOf?.some((each) => takesNull(each, root)) === true;
}

/** The only branch that is not null; undefined if there are several. */
function branchOf(given: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const schema = resolve(given, root);
  if (schema.anyOf === undefined) return schema;
  const branches = schema.anyOf.map((each) => resolve(each, root)).filter(({ type }) => type !== 'null');
  return branches.length === 1 ? branches[0] : undefined;
}

/** Recursion is limited by the depth of the schema, whatever the depth of the value. */
function loosen(given: JsonSchema, value: unknown, root: JsonSchema, path: string, ignored: string[]): unknown {
  const schema = branchOf(given, root);
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((each) => loosen(items, each, root, path, ignored));
  }
  const { properties, additionalProperties } = schema;
  if (properties === undefined) {
    if (typeof additionalProperties !== 'object' || takesNull(additionalProperties, root)) return value;
    return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
  }
  const kept: [string, unknown][] = [];
  for (const [key, each] of Object.entries(value)) {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (own === undefined) {
      if (typeof additionalProperties === 'object') kept.push([key, each]);
      else ignored.push(path + key);
      continue;
    }
    if (each === null && !takesNull(own, root)) continue;
    if (each === '' && isWord(own, root)) continue;
    kept.push([key, loosen(own, each, root, `${path}${key}.`, ignored)]);
  }
  return Object.fromEntries(kept);
}

/** Whether the schema is an enumeration without an empty text. */
function isWord(given: JsonSchema, root: JsonSchema): boolean {
  const values = branchOf(given, root)?.enum;
  return values !== undefined && !values.includes('');
}
