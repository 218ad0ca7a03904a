import { Select, Textarea } from '@mantine/core'
import { type IncidentKind, incidentLimits, incidentStateLabels, incidentStates } from '../../../contract/entities/incident.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { texts } from './texts.ts'

interface UpdateFieldsProps {
  readonly kind: IncidentKind
  readonly form: { readonly getInputProps: (name: 'state' | 'message') => object }
}

/** The fields of every update: the new state, and the published text. */
export function UpdateFields({ kind, form }: UpdateFieldsProps) {
  const say = useText(texts)
  const local = useLocal()
  return (
    <>
      <Select
        label={say('state')}
        allowDeselect={false}
        data={incidentStates[kind].map((value) => ({ value, label: local(incidentStateLabels[value]) }))}
        {...form.getInputProps('state')}
      />
      <Textarea
        label={say('message')}
        description={say('messageHelp')}
        withAsterisk
        autosize
        minRows={4}
        maxRows={12}
        maxLength={incidentLimits.messageMax}
        {...form.getInputProps('message')}
      />
    </>
  )
}
