/** Parquet files of the few column kinds that LeRobot datasets are made of. https://parquet.apache.org */
import { parquetWriteBuffer } from "hyparquet-writer";
import { replaceFile } from "#formats";

/** A picture as the `datasets` library keeps it: an encoded file and the name it would have. */
export interface StoredPicture {
  readonly bytes: Uint8Array;
  readonly path: string;
}

export type Column =
  | { readonly name: string; readonly kind: "int64"; readonly data: readonly number[] }
  | { readonly name: string; readonly kind: "float32"; readonly data: readonly number[] }
  | { readonly name: string; readonly kind: "bool"; readonly data: readonly boolean[] }
  | { readonly name: string; readonly kind: "text"; readonly data: readonly string[] }
  | { readonly name: string; readonly kind: "float32s"; readonly data: readonly (readonly number[])[] }
  | { readonly name: string; readonly kind: "texts"; readonly data: readonly (readonly string[])[] }
  | { readonly name: string; readonly kind: "picture"; readonly data: readonly StoredPicture[] };

/** @param pandas the `pandas` metadata that names a table's index, where it has one. */
export function writeParquet(path: string, columns: readonly Column[], pandas?: object): void {
  const bytes = parquetWriteBuffer({
    columnData: columns.map(({ name, kind, data }) => ({
      name,
      data: kind === "int64" ? BigInt64Array.from(data, BigInt) : [...data],
    })),
    schema: [{ name: "schema", num_children: columns.length }, ...columns.flatMap(schemaOf)],
    ...(pandas && { kvMetadata: [{ key: "pandas", value: JSON.stringify(pandas) }] }),
  });
  replaceFile(path, [new Uint8Array(bytes)]);
}

type SchemaElement = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>[number];

const optional = { repetition_type: "OPTIONAL" } as const;
const text = { type: "BYTE_ARRAY", converted_type: "UTF8", ...optional } as const;

function schemaOf({ name, kind }: Column): SchemaElement[] {
  switch (kind) {
    case "int64":
      return [{ name, type: "INT64", ...optional }];
    case "float32":
      return [{ name, type: "FLOAT", ...optional }];
    case "bool":
      return [{ name, type: "BOOLEAN", ...optional }];
    case "text":
      return [{ name, ...text }];
    case "float32s":
      return listOf(name, { name: "element", type: "FLOAT", ...optional });
    case "texts":
      return listOf(name, { name: "element", ...text });
    case "picture":
      return [
        { name, num_children: 2, ...optional },
        { name: "bytes", type: "BYTE_ARRAY", ...optional },
        { name: "path", ...text },
      ];
  }
}

const listOf = (name: string, element: SchemaElement): SchemaElement[] => [
  { name, converted_type: "LIST", num_children: 1, ...optional },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  element,
];
