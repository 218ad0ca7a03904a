import { Select, TextInput } from '@mantine/core'
import type { Choice } from '../../../contract/fields.ts'
import { useLocal } from '../../lib/i18n.ts'
import { MapEditor, type MapProps } from './map-editor.tsx'

interface TextMapProps extends MapProps {
  /** The allowed values; any text if absent. */
  readonly choices?: readonly Choice[] | undefined
}

/** An object of texts. */
export function TextMap({ choices, ...props }: TextMapProps) {
  const local = useLocal()
  return (
    <MapEditor<string> {...props} isValue={(value) => typeof value === 'string'} newValue={choices?.[0]?.value ?? ''}>
      {({ value, label, change }) =>
        choices ? (
          <Select
            aria-label={label}
            data={choices.map((choice) => ({ value: choice.value, label: local(choice.label) }))}
            value={value}
            disabled={props.disabled}
            allowDeselect={false}
            onChange={(next) => change(next ?? value)}
          />
        ) : (
          <TextInput
            aria-label={label}
            value={value}
            disabled={props.disabled}
            onChange={(event) => change(event.currentTarget.value)}
          />
        )
      }
    </MapEditor>
  )
}
