exports = async ({ username, secret }) => {
  if (secret !== "v3ry-s3cret") throw new Error("unknown secret");
  const users = context.services.get("local-mongodb").db("app").collection("users");
  const known = await users.findOne({ username });
  const id = known ? known._id : (await users.insertOne({ username })).insertedId;
  return id.toString();
};
