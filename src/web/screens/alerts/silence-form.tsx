import { Autocomplete } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { type AlertRuleId, alertSilenceFields } from '../../../contract/entities/alert.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { nowSeconds } from '../../lib/times.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'

const hourSeconds = 3600

interface Values {
  rule: AlertRuleId | ''
  subject: string
  until: number | undefined
  comment: string
}

export function SilenceForm({ rule, onDone }: { rule: AlertRuleId | undefined; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm<Values>({
    initialValues: { rule: rule ?? '', subject: '', until: nowSeconds() + 4 * hourSeconds, comment: '' },
    validate: (values) => blankFaults(alertSilenceFields, values, localOf),
  })
  const save = useWrite('POST /api/alert/silence/', {
    invalidates: ['GET /api/alert/silence/'],
    success: say('silenced'),
    onSuccess: onDone,
  })
  const firing = useFiring(form.values.rule)
  const spans = [
    { label: say('hours', { count: 1 }), hours: 1 },
    { label: say('hours', { count: 4 }), hours: 4 },
    { label: say('days', { count: 1 }), hours: 24 },
    { label: say('days', { count: 7 }), hours: 168 },
  ]
  const offers = spans.map(({ label, hours }) => ({
    label,
    onClick: () => form.setFieldValue('until', nowSeconds() + hours * hourSeconds),
  }))
  return (
    <DrawerForm
      busy={save.isPending}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit(({ until = 0, ...body }) => save.mutate({ body: { ...body, until } }))}
    >
      <FieldsForm
        fields={alertSilenceFields}
        form={form}
        inputs={{ until: { offers } }}
        draw={{
          subject: (
            <Autocomplete
              label={say('subject')}
              description={say('silenceSubjectHelp')}
              data={[...firing.keys()]}
              filter={({ options }) => options}
              renderOption={({ option: { value } }) => firing.get(value) || value}
              {...form.getInputProps('subject')}
            />
          ),
        }}
      />
    </DrawerForm>
  )
}

/** The names of the subjects for which this rule fires now, or any rule: suggestions for the subject to silence. */
function useFiring(rule: AlertRuleId | ''): ReadonlyMap<string, string> {
  const { data = [] } = useQuery(read('GET /api/alert/rule/'))
  const alerts = data.flatMap((each) => (rule === '' || rule === each.rule ? each.firing : []))
  return new Map(alerts.map(({ subject, name }) => [subject, name]))
}
