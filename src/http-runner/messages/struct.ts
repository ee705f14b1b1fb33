import type { JsonValue, Struct } from './runner-messages.ts';

/** google.protobuf.Struct, a JSON object in protobuf: every value is a message with one of six fields. */
type WireValue = Record<string, unknown>;

export function structToWire(struct: Struct): WireValue {
  return { fields: Object.fromEntries(Object.entries(struct).map(([key, value]) => [key, valueToWire(value)])) };
}

function valueToWire(value: JsonValue): WireValue {
  if (value === null) return { nullValue: 0 };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (Array.isArray(value)) return { listValue: { values: (value as JsonValue[]).map(valueToWire) } };
  return { structValue: structToWire(value as Struct) };
}

export function structFromWire({ fields }: WireValue): Struct {
  return Object.fromEntries(
    Object.entries((fields ?? {}) as Record<string, WireValue>).map(([key, value]) => [key, valueFromWire(value)]),
  );
}

function valueFromWire(value: WireValue): JsonValue {
  if (value.structValue != null) return structFromWire(value.structValue as WireValue);
  if (value.listValue != null) return ((value.listValue as WireValue).values as WireValue[]).map(valueFromWire);
  for (const kind of ['stringValue', 'numberValue', 'boolValue']) {
    if (Object.hasOwn(value, kind)) return value[kind] as JsonValue;
  }
  return null;
}
