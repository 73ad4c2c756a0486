// The command line of the page's controls, for when the server cannot write it. view/settings.cpp writes the same text.

const plain = /^[\w\-./,:=@%+]+$/;

function quoted(word) {
  return plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Quotes a value of a pipeline: text with both kinds of quotes becomes several runs, each in the kind that it lacks. */
function quotedValue(text) {
  if (text && !/^['"]|[\s|]/.test(text)) return text;
  return text.replace(/'[^"]*|[^']+/g, (run) => (run.startsWith("'") ? `"${run}"` : `'${run}'`)) || "''";
}

/** Returns the names and values that are set, in the order of the command: parameters before side inputs. */
function set(filter, values) {
  const sides = filter.parameters.filter(({ kind }) => kind === "image");
  const others = filter.parameters.filter(({ kind }) => kind !== "image");
  return [...others, ...sides].filter(({ name }) => name in values).map((record) => [record, values[record.name]]);
}

function option({ name, kind }, value) {
  if (kind === "flag") return value === "true" ? `--${name}` : `--${name}=${value}`;
  return value.startsWith("-") ? quoted(`--${name}=${value}`) : `--${name} ${quoted(value)}`;
}

/**
 * Returns the command of steps ({filter, values}). `filters` maps names to records, `files` is the text of input and
 * output, `kept` that of the other options of the command line.
 */
export function commandOf(steps, filters, { files, kept }) {
  const parts = ["satin"];
  if (steps.length === 1) {
    const [{ filter, values }] = steps;
    parts.push(filter, files, ...set(filters.get(filter), values).map(([record, value]) => option(record, value)));
  } else {
    const step = ({ filter, values }) =>
      [filter, ...set(filters.get(filter), values).map(([{ name }, value]) => `${name}=${quotedValue(value)}`)].join(" ");
    parts.push("run", quoted(steps.map(step).join(" | ")), files);
  }
  return [...parts, kept].filter(Boolean).join(" ");
}
