import { NumberInput } from '@mantine/core'
import { MapEditor, type MapProps } from './map-editor.tsx'

/** An object of numbers. */
export function RatioMap(props: MapProps) {
  return (
    <MapEditor<number | string> {...props} isValue={(value) => typeof value === 'number'} newValue={1} finish={Number}>
      {({ value, label, change }) => (
        <NumberInput aria-label={label} value={value} disabled={props.disabled} min={0} decimalScale={6} onChange={change} />
      )}
    </MapEditor>
  )
}
