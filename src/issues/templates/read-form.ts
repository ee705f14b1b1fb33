import { templateLimits } from './issue-template.ts';
import type { Question, TemplateField } from './issue-template.ts';
import { isValues, readFlag, readText, TemplateFault } from './yaml-fields.ts';
import type { Values } from './yaml-fields.ts';

const longText = templateLimits.fileBytes;

/** The `body` of a YAML form. Throws `TemplateFault`. */
export function readForm(body: unknown): TemplateField[] {
  if (!Array.isArray(body) || body.length === 0) throw new TemplateFault('A form needs a list of fields under `body`.');
  if (body.length > templateLimits.fields)
    throw new TemplateFault(`A form has at most ${templateLimits.fields} fields.`);
  const ids = new Set<string>();
  const fields = body.map((field: unknown, index) => {
    const place = `Field ${index + 1} of \`body\``;
    if (!isValues(field)) throw new TemplateFault(`${place} is no mapping.`);
    return readField(field, index, place, ids);
  });
  if (fields.every(({ kind }) => kind === 'markdown')) throw new TemplateFault('This form has no field to fill in.');
  return fields;
}

function readField(field: Values, index: number, place: string, ids: Set<string>): TemplateField {
  const attributes = isValues(field['attributes']) ? field['attributes'] : {};
  const kind = readText(field, 'type');
  if (kind === 'markdown') return { kind, text: readText(attributes, 'value', longText) };
  const question = readQuestion(field, attributes, index, place, ids);
  const text = {
    ...question,
    placeholder: readText(attributes, 'placeholder'),
    value: readText(attributes, 'value', longText),
  };
  switch (kind) {
    case 'input':
      return { kind, ...text, isNumber: isValues(field['validations']) && readFlag(field['validations'], 'is_number') };
    case 'textarea': {
      const render = /^[\w+#.-]{1,40}/.exec(readText(attributes, 'render'))?.[0] ?? null;
      return { kind, ...text, render };
    }
    case 'dropdown': {
      const options = readOptions(attributes, place).map((option) => textOf(option));
      if (options.includes('')) throw new TemplateFault(`${place} has an option without text.`);
      const preselected = options[Number(attributes['default'] ?? -1)] ?? null;
      return { kind, ...question, options, isMultiple: readFlag(attributes, 'multiple'), preselected };
    }
    case 'checkboxes': {
      const options = readOptions(attributes, place).map((option) => {
        const label = isValues(option) ? readText(option, 'label') : textOf(option);
        if (label === '') throw new TemplateFault(`${place} has an option without a label.`);
        return { label, isRequired: isValues(option) && readFlag(option, 'required') };
      });
      return { kind, ...question, options };
    }
    default:
      throw new TemplateFault(`${place} has the unknown type “${kind}”.`);
  }
}

function readQuestion(field: Values, attributes: Values, index: number, place: string, ids: Set<string>): Question {
  const label = readText(attributes, 'label');
  if (label === '') throw new TemplateFault(`${place} has no label.`);
  const given = readText(field, 'id');
  if (given !== '' && !/^[\w-]{1,60}$/.test(given))
    throw new TemplateFault(`${place} has an id with other characters than letters, digits, \`-\` and \`_\`.`);
  const id = given === '' ? `field-${index + 1}` : given;
  if (ids.has(id)) throw new TemplateFault(`Two fields have the id “${id}”.`);
  ids.add(id);
  const validations = isValues(field['validations']) ? field['validations'] : {};
  return {
    id,
    label,
    description: readText(attributes, 'description', 2_000),
    isRequired: readFlag(validations, 'required'),
  };
}

function readOptions(attributes: Values, place: string): unknown[] {
  const { options } = attributes;
  if (!Array.isArray(options) || options.length === 0) throw new TemplateFault(`${place} has no options.`);
  if (options.length > templateLimits.options)
    throw new TemplateFault(`${place} has more than ${templateLimits.options} options.`);
  return options as unknown[];
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim().slice(0, 500)
    : '';
