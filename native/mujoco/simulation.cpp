#include "simulation.h"

#include <cstring>

#include "guard.h"
#include <mujoco/mjxmacro.h>

namespace reverie {

namespace {

// Points the field `name` of `view` at `memory`.
void redirect(mjModel& view, const std::string& wanted, void* memory) {
#define X(type, name, rows, columns) \
  if (wanted == #name) view.name = static_cast<type*>(memory);
#define XNV X
  MJMODEL_POINTERS
#undef XNV
#undef X
}

const Field& fieldNamed(const std::vector<Field>& fields, const std::string& name) {
  for (const Field& field : fields) {
    if (name == field.name && field.type != '?') return field;
  }
  throw JsError("ARGUMENT", "a model has no array named " + name);
}

constexpr size_t roundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

World::World(std::shared_ptr<mjModel> model, const std::vector<std::string>& ownedNames)
    : shared(std::move(model)), view(*shared) {
  const auto fields = modelFields(shared.get());
  for (const std::string& name : ownedNames) {
    ownedFields.push_back(fieldNamed(fields, name));
    ownedBytes += roundUp(ownedFields.back().bytes());
  }
  owned = std::make_unique<double[]>(ownedBytes / sizeof(double));
  char* next = reinterpret_cast<char*>(owned.get());
  for (Field& field : ownedFields) {
    std::memcpy(next, field.data, field.bytes());
    field.data = next;
    redirect(view, field.name, next);
    next += roundUp(field.bytes());
  }
  guarded([this] { data = mj_makeData(&view); });
  if (!data) throw JsError("ENGINE", "MuJoCo could not allocate the data of a simulation");
}

World::~World() {
  if (data) mj_deleteData(data);
}

namespace {

World& worldOf(const Call& call) { return *unwrap<SimulationHandle>(call, 0).world; }

std::vector<std::string> textList(const Call& call, size_t i) {
  std::vector<std::string> out;
  uint32_t length = 0;
  if (napi_get_array_length(call.env, call.value(i), &length) != napi_ok) throw JsError("ARGUMENT", "expected an array of names");
  for (uint32_t k = 0; k < length; k++) {
    napi_value name;
    napi_get_element(call.env, call.value(i), k, &name);
    out.push_back(Call::textOf(call.env, name));
  }
  return out;
}

// arguments: model, names of the model's arrays that this simulation may write
napi_value createSimulation(Call& call) {
  auto model = unwrap<ModelHandle>(call, 0).model;
  auto* handle = new SimulationHandle;
  const napi_value out = wrap(call.env, handle);
  handle->world = std::make_shared<World>(std::move(model), textList(call, 1));
  return out;
}

napi_value simulationMemory(Call& call) {
  SimulationHandle& handle = unwrap<SimulationHandle>(call, 0);
  World& world = *handle.world;
  mjData* d = world.data;
  napi_value out = call.object();
  call.set(out, "buffer", handle.dataMemory.arrayBuffer(call.env, d->buffer, d->nbuffer, handle.world));
  call.set(out, "fields", describeFields(call, dataFields(&world.view, d), d->buffer, d->nbuffer));
  call.set(out, "ownedBuffer", handle.ownedMemory.arrayBuffer(call.env, world.owned.get(), world.ownedBytes, handle.world));
  call.set(out, "ownedFields", describeFields(call, world.ownedFields, world.owned.get(), world.ownedBytes));
  return out;
}

napi_value disposeSimulation(Call& call) {
  SimulationHandle& handle = unwrap<SimulationHandle>(call, 0);
  handle.dataMemory.release(call.env);
  handle.ownedMemory.release(call.env);
  handle.world.reset();
  return call.none();
}

template <void (*Function)(const mjModel*, mjData*)>
napi_value run(Call& call) {
  World& world = worldOf(call);
  guarded(world.data, [&] { Function(&world.view, world.data); });
  return call.none();
}

// Poses, motion axes and the mass matrix; no collisions, no constraints, no forces.
void poses(const mjModel* m, mjData* d) {
  mj_kinematics(m, d);
  mj_comPos(m, d);
  mj_camlight(m, d);
  mj_flex(m, d);
  mj_tendon(m, d);
  mj_makeM(m, d);
}

napi_value step(Call& call) {
  World& world = worldOf(call);
  const int count = call.integer(1, 0, INT32_MAX);
  guarded(world.data, [&] {
    for (int i = 0; i < count; i++) mj_step(&world.view, world.data);
  });
  return call.none();
}

napi_value resetToKeyframe(Call& call) {
  World& world = worldOf(call);
  const int key = call.integer(1, 0, static_cast<int>(world.view.nkey) - 1);
  guarded(world.data, [&] { mj_resetDataKeyframe(&world.view, world.data, key); });
  return call.none();
}

napi_value getTime(Call& call) { return call.of(worldOf(call).data->time); }

napi_value setTime(Call& call) {
  worldOf(call).data->time = call.number(1);
  return call.none();
}

using Jacobian = void (*)(const mjModel*, const mjData*, mjtNum*, mjtNum*, int);

// arguments: simulation, id, [3, nv] of translation, [3, nv] of rotation
template <Jacobian Function, auto Count>
napi_value jacobian(Call& call) {
  World& world = worldOf(call);
  const mjModel& m = world.view;
  const int id = call.integer(1, 0, static_cast<int>(m.*Count) - 1);
  mjtNum* translation = call.doubles(2, 3 * m.nv).data;
  mjtNum* rotation = call.doubles(3, 3 * m.nv).data;
  guarded(world.data, [&] { Function(&m, world.data, translation, rotation, id); });
  return call.none();
}

napi_value fullMassMatrix(Call& call) {
  World& world = worldOf(call);
  mjtNum* out = call.doubles(1, static_cast<size_t>(world.view.nv) * world.view.nv).data;
  guarded(world.data, [&] { mj_fullM(&world.view, out, world.data->qM); });
  return call.none();
}

// Fills [geom1, geom2] pairs as far as `out` reaches; returns how many contacts there are.
napi_value contactPairs(Call& call) {
  const mjData* d = worldOf(call).data;
  const auto out = call.ints(1, 0);
  for (int i = 0; i < d->ncon && static_cast<size_t>(2 * i + 1) < out.length; i++) {
    out.data[2 * i] = d->contact[i].geom[0];
    out.data[2 * i + 1] = d->contact[i].geom[1];
  }
  return call.of(static_cast<double>(d->ncon));
}

// One contact as 19 numbers: distance, position (3), frame (9), force and torque in that frame (6).
napi_value contactAt(Call& call) {
  World& world = worldOf(call);
  const int i = call.integer(1, 0, world.data->ncon - 1);
  mjtNum* out = call.doubles(2, 19).data;
  const mjContact& contact = world.data->contact[i];
  out[0] = contact.dist;
  std::memcpy(out + 1, contact.pos, sizeof(contact.pos));
  std::memcpy(out + 4, contact.frame, sizeof(contact.frame));
  guarded(world.data, [&] { mj_contactForce(&world.view, world.data, i, out + 13); });
  return call.none();
}

napi_value stateSize(Call& call) {
  int size = 0;
  World& world = worldOf(call);
  const int parts = call.integer(1, 1, (1 << mjNSTATE) - 1);
  guarded(world.data, [&] { size = mj_stateSize(&world.view, parts); });
  return call.of(static_cast<double>(size));
}

napi_value getState(Call& call) {
  World& world = worldOf(call);
  const int parts = call.integer(1, 1, (1 << mjNSTATE) - 1);
  mjtNum* out = call.doubles(2, mj_stateSize(&world.view, parts)).data;
  guarded(world.data, [&] { mj_getState(&world.view, world.data, out, parts); });
  return call.none();
}

napi_value setState(Call& call) {
  World& world = worldOf(call);
  const int parts = call.integer(1, 1, (1 << mjNSTATE) - 1);
  const mjtNum* state = call.doubles(2, mj_stateSize(&world.view, parts)).data;
  guarded(world.data, [&] { mj_setState(&world.view, world.data, state, parts); });
  return call.none();
}

napi_value getOptions(Call& call) {
  const mjOption& o = worldOf(call).view.opt;
  napi_value out = call.object();
#define X(type, name) call.set(out, #name, call.of(static_cast<double>(o.name)));
  MJOPTION_SCALARS
#undef X
  return out;
}

napi_value setOption(Call& call) {
  mjOption& o = worldOf(call).view.opt;
  const std::string wanted = call.text(1);
  const double value = call.number(2);
#define X(type, name) \
  if (wanted == #name) return o.name = static_cast<type>(value), call.none();
  MJOPTION_SCALARS
#undef X
  throw JsError("ARGUMENT", "MuJoCo has no option named " + wanted);
}

napi_value setGravity(Call& call) {
  mjOption& o = worldOf(call).view.opt;
  for (int i = 0; i < 3; i++) o.gravity[i] = call.number(i + 1);
  return call.none();
}

}  // namespace

void registerSimulation(napi_env env, napi_value exports) {
  const napi_property_descriptor properties[] = {
#define NAMED(name, function) {name, nullptr, entry<function>, nullptr, nullptr, nullptr, napi_enumerable, nullptr}
#define EXPORT(name) NAMED(#name, name)
      EXPORT(createSimulation), EXPORT(simulationMemory), EXPORT(disposeSimulation), EXPORT(step),
      NAMED("step1", run<mj_step1>), NAMED("step2", run<mj_step2>), NAMED("forward", run<mj_forward>),
      NAMED("kinematics", run<poses>), NAMED("reset", run<mj_resetData>), EXPORT(resetToKeyframe),
      EXPORT(getTime), EXPORT(setTime),
      NAMED("jacobianOfBody", (jacobian<mj_jacBody, &mjModel::nbody>)),
      NAMED("jacobianOfCentreOfMass", (jacobian<mj_jacBodyCom, &mjModel::nbody>)),
      NAMED("jacobianOfGeom", (jacobian<mj_jacGeom, &mjModel::ngeom>)),
      NAMED("jacobianOfSite", (jacobian<mj_jacSite, &mjModel::nsite>)), EXPORT(fullMassMatrix), EXPORT(contactPairs),
      EXPORT(contactAt), EXPORT(stateSize), EXPORT(getState), EXPORT(setState), EXPORT(getOptions),
      EXPORT(setOption), EXPORT(setGravity),
#undef EXPORT
#undef NAMED
  };
  napi_define_properties(env, exports, std::size(properties), properties);
}

}  // namespace reverie
