import type { OpenApi, OpenApiOperation } from '../../http-api/index.ts';

interface ApiOperationView {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  needsToken: boolean;
  /** Parameters of the query, fields of the body. */
  inputs: ApiInputView[];
}

interface ApiInputView {
  name: string;
  isRequired: boolean;
  hint: string;
}

interface ApiView {
  groups: { name: string; id: string; operations: ApiOperationView[] }[];
}

/** The API's document for display: its operations, by subject. */
export function viewApi({ paths, components }: OpenApi): ApiView {
  const { schemas } = components as { schemas: Record<string, Schema> };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      view: viewOperation(path, method, operation, schemas),
    })),
  );
  const byTag = Map.groupBy(all, ({ tag }) => tag);
  return {
    groups: [...byTag].map(([name, operations]) => ({
      name,
      id: name.toLowerCase().replaceAll(' ', '-'),
      operations: operations.map(({ view }) => view),
    })),
  };
}

type Schema = Readonly<Record<string, unknown>>;

/** The fields of a JSON body; empty for a body that is a file. */
function bodyInputs({ requestBody }: OpenApiOperation, schemas: Readonly<Record<string, Schema>>): ApiInputView[] {
  const schema = (requestBody as { content: Record<string, { schema?: Schema }> } | undefined)?.content[
    'application/json'
  ]?.schema;
  if (schema === undefined) return [];
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1)! : null;
  const { properties = {}, required = [] } = (name === null ? schema : schemas[name]) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([field, property]) => ({
    name: field,
    isRequired: required.includes(field),
    hint: hintOf(property),
  }));
}

function hintOf(schema: Schema): string {
  const values = Array.isArray(schema['enum']) ? schema['enum'].join(', ') : null;
  const description = typeof schema['description'] === 'string' ? schema['description'] : null;
  const otherwise =
    schema['default'] === undefined || schema['default'] === '' ? null : `default ${String(schema['default'])}`;
  return [values, description, otherwise].filter((part) => part !== null).join('; ');
}

function viewOperation(
  path: string,
  method: string,
  operation: OpenApiOperation,
  schemas: Readonly<Record<string, Schema>>,
): ApiOperationView {
  const { operationId, summary, description = '', security, parameters } = operation;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    needsToken: security.every((way) => Object.keys(way).length > 0),
    inputs: [
      ...parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, required, description, schema }) => ({
          name,
          isRequired: required,
          hint: hintOf({ ...(schema as Schema), description }),
        })),
      ...bodyInputs(operation, schemas),
    ],
  };
}
